from typing import Any

class TrainingArguments:
    output_dir: str

class TrainerState:
    global_step: int
    @property
    def is_world_process_zero(self) -> bool: ...

class TrainerControl: ...

class TrainerCallback:
    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> TrainerControl | None: ...
    def on_log(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> TrainerControl | None: ...
