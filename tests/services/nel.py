"""What the NeMo evaluator launcher is asked to evaluate, wherever it runs: one task on a model that
nobody serves.
"""

EVALUATED = """\
target:
  api_endpoint:
    url: http://127.0.0.1:9/v1/chat/completions
    model_id: tiny
    api_key_name: null
evaluation:
  tasks:
    - name: lm-evaluation-harness.ifeval
"""
