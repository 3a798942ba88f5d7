from typing import Generic, TypeVar

S = TypeVar("S")

class StepInfo(Generic[S]):
    state: S
    loss: float
    step_duration: float
    @property
    def step(self) -> int: ...
    @property
    def next_step(self) -> int: ...
