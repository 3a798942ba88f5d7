"""The content of a report, computed purely: downsampled curves, annotations, the estimated end,
charts.
"""
