"""Detectors are reducers: `(state, rows) -> (state, excursions)`, by steps and not by ticks.

A tick processes only new rows. The state is a plain value, cached by its cursor, and can always be
rebuilt from the rows. Every row is processed in order, however rarely the babysitter ticks.
`reorder` sorts rows and separates attempts; `loss`, `grad_norm`, `throughput`, `band` and
`nonfinite` find excursions; `resume` compares two attempts; `pipeline` puts them together.
"""
