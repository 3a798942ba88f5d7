"""What a report shows of a run, worked out purely: curves made thin, marks on them, when it will be
done, pictures.
"""
