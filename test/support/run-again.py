"""Runs a Python script again and again in one process, because starting Python and loading its packages takes longer than the scripts do.

Usage: run-again.py SCRIPT. Each line of standard input is {"args": [...], "input": base64}; each line of standard output {"status": n, "said": text}.
"""
import base64, io, json, sys

script, calls, answers = sys.argv[1], sys.stdin.buffer, sys.stdout
with open(script, encoding='utf-8') as file: program = compile(file.read(), script, 'exec')
for line in calls:
    call = json.loads(line)
    said = io.StringIO()
    sys.argv = [script, *call['args']]
    sys.stdin = io.TextIOWrapper(io.BytesIO(base64.b64decode(call['input'])), encoding='utf-8')
    sys.stdout = sys.stderr = said
    status = 0
    try:
        exec(program, {'__name__': '__main__', '__file__': script})
    except SystemExit as end:
        # As the interpreter does: a text is printed, and the status is 1.
        if isinstance(end.code, str): print(end.code)
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    sys.stdout = answers
    print(json.dumps({'status': status, 'said': said.getvalue()}), file=answers, flush=True)
