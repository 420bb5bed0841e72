#!/usr/bin/env python3
"""Checks a bundle of a history (docs/reference/formats/bundle.md) offline: its hash chain, and what the log of its tenant says of it.

Usage: verify_history.py <file> [--key <thumbprint or JWK file>... | --any-key] [--checkpoint <note file>]
Exit codes, as those of "anima verify":
0  a line "valid ..."
1  what is wrong: "broken at line N: why" (the bundle), "wrong checkpoint: why" (the kept one), "wrong key: why", or "not proven: why"
2  wrong usage
4  a line "valid ...", but nobody said whose key must have signed it (--key; several: one of them), or that any may have (--any-key)
Needs the package "cryptography" where a bundle has a proof.
It was written from docs/reference/formats/bundle.md and hash-chain.md, RFC 8785, RFC 9162 and C2SP signed-note, and shares no code with the server.
"""
import base64, hashlib, json, math, re, sys
from decimal import Decimal

LINE_BYTES = 2 * 1024 * 1024
LEVELS = 100
EVENT = {'actor', 'at', 'causationId', 'commandId', 'correlationId', 'data', 'hash', 'id', 'prevHash', 'revision', 'schemaVersion',
         'stream', 'tenant', 'type'}
HEADER = {'bundle', 'version', 'tenant', 'npcId', 'stream', 'from', 'to', 'prevHash', 'madeAt', 'keys'}
GENESIS = '0' * 64

KEY_NOT_CHECKED = ('Key not checked: anyone can sign a log of their own, and the key comes from the bundle itself. Get the key of the server elsewhere, '
                   'for example from its /.well-known/jwks.json, and pass it with --key. --any-key accepts every key.')
NO_PROOF = 'the bundle has no proof from the log, which did not cover these events when the bundle was made'

class Broken(Exception):
    def __init__(self, why, culprit='bundle'):
        super().__init__(why)
        self.culprit = culprit

def need(holds, why, culprit='bundle'):
    if not holds: raise Broken(why, culprit)

# RFC 8785 (JCS)
def number(value):  # as ECMAScript writes it, from the shortest digits that mean the same double
    value = float(value)
    need(math.isfinite(value), 'a number is invalid')
    if value == 0: return '0'
    digits = ''.join(map(str, Decimal(repr(abs(value))).as_tuple().digits)).rstrip('0')
    point, sign = Decimal(repr(value)).adjusted() + 1, '-' if value < 0 else ''
    if len(digits) <= point <= 21: return sign + digits.ljust(point, '0')
    if 0 < point <= 21: return sign + digits[:point] + '.' + digits[point:]
    if -6 < point <= 0: return sign + '0.' + '0' * -point + digits
    return sign + digits[0] + ('.' + digits[1:] if digits[1:] else '') + f'e{point - 1:+d}'

def text_of(value):
    return json.dumps(value, ensure_ascii=False)

def jcs(value, levels=LEVELS):
    if value is None: return 'null'
    if value is True: return 'true'
    if value is False: return 'false'
    if isinstance(value, (int, float)): return number(value)
    if isinstance(value, str): return text_of(value)
    need(levels > 0, 'it is nested too deeply')
    if isinstance(value, list): return '[' + ','.join(jcs(one, levels - 1) for one in value) + ']'
    names = sorted(value, key=lambda name: name.encode('utf-16-be', 'surrogatepass'))
    return '{' + ','.join(text_of(name) + ':' + jcs(value[name], levels - 1) for name in names) + '}'

def read_line(data):
    try: text = data.decode('utf-8')
    except UnicodeDecodeError: raise Broken('it is not UTF-8')
    try: value = json.loads(text)
    except (ValueError, RecursionError): raise Broken('it is not JSON')
    try: written = jcs(value).encode('utf-8')
    except UnicodeEncodeError: raise Broken('it holds half a character')
    need(written == data, 'it is not in canonical form (JCS)')
    need(isinstance(value, dict), 'it is not an object')
    return value

sha256 = lambda data: hashlib.sha256(data).digest()
unpadded = lambda data: base64.urlsafe_b64encode(data).rstrip(b'=').decode()
is_hash = lambda value: isinstance(value, str) and re.fullmatch('[0-9a-f]{64}', value) is not None
is_place = lambda value: type(value) is int and 0 <= value < 2 ** 53
is_one = lambda value, wanted: type(value) is int and value == wanted  # True == 1 in Python
is_path = lambda value: isinstance(value, list) and len(value) <= 128 and all(map(is_hash, value))
is_time = lambda value: isinstance(value, str) and re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', value, re.ASCII) is not None
shown = lambda text: ''.join(one if one.isprintable() else f'\\u{ord(one):04x}' for one in text)  # for a terminal

def escaped(part):
    return re.sub('[^A-Za-z0-9_-]', lambda found: ''.join(f'={byte:02x}' for byte in found[0].encode('utf-8')), part)

def key_of(jwk):  # (thumbprint, 32 bytes)
    need(isinstance(jwk, dict) and jwk.get('kty') == 'OKP' and jwk.get('crv') == 'Ed25519', 'one of its keys is invalid')
    x = jwk.get('x')
    need(isinstance(x, str) and re.fullmatch('[A-Za-z0-9_-]{43}', x), 'one of its keys is invalid')
    kid = unpadded(sha256(jcs({'crv': 'Ed25519', 'kty': 'OKP', 'x': x}).encode()))
    need(jwk.get('kid', kid) == kid, 'one of its keys has another thumbprint')
    return kid, base64.urlsafe_b64decode(x + '=')

# C2SP signed-note and tlog-checkpoint
def read_note(note, name, culprit):
    need(len(note.encode('utf-16-le')) <= 131072 and note.endswith('\n') and not re.search('[\x00-\x09\x0b-\x1f\x7f]', note), f'{name} is not a note of a log', culprit)
    text, split, signatures = note.rpartition('\n\n')
    need(split and text, f'{name} is not a note of a log', culprit)
    found = []
    for line in signatures[:-1].split('\n'):
        match = re.fullmatch(r'— ([^\s\ufeff+]{1,1024}) ([A-Za-z0-9+/]+={0,2})', line)
        need(match, f'{name} is not a note of a log', culprit)
        try: data = base64.b64decode(match[2], validate=True)
        except ValueError: raise Broken(f'{name} is not a note of a log', culprit)
        need(len(data) > 4 and base64.b64encode(data).decode() == match[2], f'{name} is not a note of a log', culprit)
        found.append((match[1], data[:4], data[4:]))
    need(len(found) <= 64, f'{name} is not a note of a log', culprit)
    text += '\n'
    lines = text.split('\n')
    need(len(lines) == 5 and lines[4] == '' and re.fullmatch('0|[1-9][0-9]{0,15}', lines[1]), f'{name} is not a note of a log', culprit)
    need(re.fullmatch(r'[^\s\ufeff+]{1,1024}', lines[0]) and lines[3].startswith('time ') and is_time(lines[3][5:]), f'{name} is not a note of a log', culprit)
    try: root = base64.b64decode(lines[2], validate=True)
    except ValueError: raise Broken(f'{name} is not a note of a log', culprit)
    need(len(root) == 32 and base64.b64encode(root).decode() == lines[2], f'{name} is not a note of a log', culprit)
    return {'text': text, 'signatures': found, 'origin': lines[0], 'size': int(lines[1]), 'root': root, 'at': lines[3][5:]}

def signers_of(note, keys):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    name, found = note['origin'], []
    for kid, key in keys:
        key_id = sha256(name.encode() + b'\n\x01' + key)[:4]
        for signer, given, signature in note['signatures']:
            if signer != name or given != key_id: continue
            try: Ed25519PublicKey.from_public_bytes(key).verify(signature, note['text'].encode())
            except Exception: continue
            found.append(kid)
            break
    return found

def signed_by(note, keys, named, name, culprit):  # named: a thumbprint or (thumbprint, 32 bytes) each; one of them must have signed
    known = dict(keys + [one for one in named if isinstance(one, tuple)])
    wanted = [one[0] if isinstance(one, tuple) else one for one in named]
    kids = signers_of(note, known.items())
    need(kids, f'{name} is not signed by a key of the bundle', culprit)
    need(not named or set(kids) & set(wanted), f"{name} is signed by the key {' and '.join(kids)}, not by {' or '.join(wanted)}", 'key')
    return kids

# RFC 9162, sections 2.1.3.2 and 2.1.4.2
node = lambda left, right: sha256(b'\1' + left + right)

def included(leaf, at, size, path, root):
    if not 0 <= at < size: return False
    last, found = size - 1, leaf
    for sibling in path:
        if last == 0: return False
        if at % 2 or at == last:
            found = node(sibling, found)
            while at and not at % 2: at, last = at // 2, last // 2
        else: found = node(found, sibling)
        at, last = at // 2, last // 2
    return last == 0 and found == root

def extends(earlier, earlier_root, size, root, path):
    if earlier == size: return not path and earlier_root == root
    at, last = earlier - 1, size - 1
    while at % 2: at, last = at // 2, last // 2
    if at == 0: path = [earlier_root] + path
    if not path: return False
    before = after = path[0]
    for sibling in path[1:]:
        if last == 0: return False
        if at % 2 or at == last:
            before, after = node(sibling, before), node(sibling, after)
            while at and not at % 2: at, last = at // 2, last // 2
        else: after = node(after, sibling)
        at, last = at // 2, last // 2
    return last == 0 and before == earlier_root and after == root

def read_header(data):
    header = read_line(data)
    need(set(header) == HEADER and header['bundle'] == 'anima-history' and (is_one(header['version'], 1) or is_one(header['version'], 2)), 'it is not the header of a bundle of version 1 or 2')
    need(isinstance(header['tenant'], str) and isinstance(header['npcId'], str), 'its names are not strings')
    need(header['stream'] == f"npc-{escaped(header['tenant'])}.{escaped(header['npcId'])}", 'its stream does not belong to its NPC')
    need(is_place(header['from']) and is_place(header['to']) and header['from'] <= header['to'], 'its range is invalid')
    need(is_hash(header['prevHash']) and (header['from'] > 0 or header['prevHash'] == GENESIS), 'its prevHash is invalid')
    need(is_time(header['madeAt']) and isinstance(header['keys'], list) and len(header['keys']) <= 1000, 'its time or its keys are invalid')
    for jwk in header['keys']: need(isinstance(jwk, dict) and set(jwk) == {'crv', 'kid', 'kty', 'use', 'x'} and jwk['use'] == 'sig', 'one of its keys is invalid')
    header['keys'] = [key_of(jwk) for jwk in header['keys']]
    return header

def read_event(data, header, last):
    event = read_line(data)
    need(set(event) == EVENT, 'an event must have exactly the thirteen members of the hash chain format, and hash')
    need(event['tenant'] == header['tenant'] and event['stream'] == header['stream'], 'it belongs to another stream')
    need(is_one(event['revision'], last['revision'] + 1), f"revision {last['revision'] + 1} was expected here")
    need(event['prevHash'] == last['hash'], 'it does not follow the previous event (prevHash)')
    computed = hashlib.sha256(jcs({name: event[name] for name in event if name != 'hash'}).encode()).hexdigest()
    need(event['hash'] == computed, 'its content does not match its hash')
    need(is_time(event['at']), 'its time is invalid')
    need(event['at'] >= last['at'], 'its time is earlier than that of the previous event')
    return {'revision': event['revision'], 'hash': event['hash'], 'at': event['at']}

def check_extends(proof, note, old):
    def need_kept(holds, why): need(holds, why, 'checkpoint')
    need_kept(old['origin'] == note['origin'], 'the kept checkpoint belongs to another log')
    if old['size'] == note['size']:
        need_kept(old['root'] == note['root'], 'the log was forked: the kept checkpoint has the same size but a different root')
        return
    need_kept(old['size'] < note['size'], 'the kept checkpoint is of a larger log: the log was truncated, or this is an older one')
    if old['size'] == 0: return
    longer = proof.get('extends')
    need_kept(longer is not None and longer['from'] == old['size'],
              f"the bundle does not prove that it extends size {old['size']}; create it with --checkpoint, or with ?extends=")
    between = [bytes.fromhex(one) for one in longer['path']]
    need_kept(extends(old['size'], old['root'], note['size'], note['root'], between), 'the log does not extend the kept checkpoint: it was changed or forked')

def check_proof(end, header, covered, named, kept):
    proof, asked, version = end['proof'], bool(named) or kept is not None, header['version']
    if proof is None:
        need(version == 1, 'its proof is missing')
        need(not asked, NO_PROOF, 'proof')
        return f'not proven: {NO_PROOF}'
    need(isinstance(proof, dict) and set(proof) - {'extends'} == {'size', 'leaf', 'index', 'path', 'note'}, 'its proof has missing or unknown members')
    leaf, size, longer = proof['leaf'], proof['size'], proof.get('extends')
    need(isinstance(leaf, dict) and set(leaf) - {'from', 'events'} == {'stream', 'revision', 'hash', 'at'} and len(leaf) in (4, 6), 'the leaf has missing or unknown members')
    need(is_place(size) and is_place(proof['index']) and is_path(proof['path']) and isinstance(proof['note'], str), 'a member of its proof is malformed')
    if 'extends' in proof:
        need(isinstance(longer, dict) and set(longer) == {'from', 'path'} and is_place(longer['from']) and is_path(longer['path']), 'its extension is invalid')
        need(1 <= longer['from'] <= size, 'its extension is invalid')
    need(is_place(leaf['revision']) and is_hash(leaf['hash']) and isinstance(leaf['at'], str), 'a member of its proof is malformed')
    need(len(leaf) == 4 or is_place(leaf['from']) and leaf['from'] <= leaf['revision'] and is_hash(leaf['events']), 'a member of its proof is malformed')
    need(leaf['stream'] == header['stream'], 'the leaf belongs to another stream')
    if version == 1:
        need(covered is not None or leaf['revision'] <= header['to'],
             f"events are missing: the log contains revision {leaf['revision']}, but the bundle ends at {header['to']}")
        need(covered == {'revision': leaf['revision'], 'hash': leaf['hash'], 'at': leaf['at']}, 'the leaf is not an event of this bundle')
    note = read_note(proof['note'], 'the checkpoint in the bundle', 'bundle')
    kids = signed_by(note, header['keys'], named, 'the checkpoint in the bundle', 'bundle')
    need(note['size'] == size, 'the checkpoint and the proof have different sizes')
    path = [bytes.fromhex(one) for one in proof['path']]
    need(included(sha256(b'\0' + jcs(leaf).encode()), proof['index'], size, path, note['root']), 'the leaf is not in the signed log')
    if kept is not None:
        old = kept.get(note['origin'], kept[''])
        signed_by(old, header['keys'], named, 'the kept checkpoint', 'checkpoint')
        check_extends(proof, note, old)
    if version == 1: return f"logged up to {leaf['revision']} in {shown(note['origin'])} of size {size} at {note['at']} signed by {' and '.join(kids)}"
    last, revision = end['last'], leaf['revision']
    need(revision > header['to'] and last >= header['to'], 'its last revision does not fit its leaf')
    need(revision <= last, f'the history was cut: the log contains its revision {revision}, but it ends at {last}, '
         f'so revisions {last + 1} to {revision} are missing')
    beyond = f'the log covers this NPC up to revision {revision}, beyond this bundle: export up to {revision} to prove it'
    need(not asked, beyond, 'proof')
    return f'not proven: {beyond}'

def read_text(file):  # anything is read, so that what is no text is called what it is
    return open(file, 'rb').read().decode('utf-8-sig', 'replace')

def no_constant(word): raise ValueError(word)  # NaN and Infinity are no JSON

def read_json(text):
    try: return json.loads(text, parse_int=float, parse_constant=no_constant)
    except (ValueError, RecursionError): return None

def note_or_none(text):
    try: return read_note(text, 'the kept checkpoint', 'checkpoint')
    except (Broken, ValueError): return None

def read_kept(file):  # the last checkpoint of each log by its name, and the last one of all by '': one note, or lines {"note"} among others
    text = read_text(file)
    kept, one = {}, note_or_none(text)
    for line in [] if one else text.split('\n'):
        value = read_json(line)
        note = value.get('note') if isinstance(value, dict) else None
        found = note_or_none(note) if isinstance(note, str) else None
        if found: kept[found['origin']] = kept[''] = found
    if one: kept[''] = one
    if not kept: sys.exit(f'{file} is not a checkpoint. Pass a file that "npx anima checkpoint --out" wrote, or the file of ANIMA_CHECKPOINT_URL.')
    return kept

def read_key(named):
    if re.fullmatch('[A-Za-z0-9_-]{43}', named): return named
    try: return key_of(read_json(read_text(named)))
    except Broken: sys.exit(f'{named} is neither a key thumbprint of 43 characters nor a file with an Ed25519 JWK.')

def leaf_revision(file):  # of version 1: what the last line says, before it is checked; that event is looked out for
    file.seek(0, 2)
    file.seek(max(0, file.tell() - 262144))
    try: return json.loads(file.read().rstrip(b'\n').rpartition(b'\n')[2])['proof']['leaf']['revision']
    except (ValueError, KeyError, TypeError, RecursionError): return None

def verify(file, named, kept):
    wanted, header, last, covered, said, line = leaf_revision(file), None, None, None, None, 0
    file.seek(0)
    try:
        while True:
            line += 1
            data = file.readline(LINE_BYTES)
            if not data: break
            need(data.endswith(b'\n'), 'it does not end: the file was truncated')
            data = data[:-1]
            need(said is None, 'the bundle ends before this line')
            if header is None:
                header = read_header(data)
                last = {'revision': header['from'] - 1, 'hash': header['prevHash'], 'at': ''}
            elif last['revision'] < header['to']:
                last = read_event(data, header, last)
                if last['revision'] == wanted: covered = last
            else:
                end = read_line(data)
                names = {'events', 'head', 'proof'} | ({'last'} if header['version'] == 2 else set())
                need(set(end) == names and is_place(end.get('last', 0)), 'the last line has missing or unknown members')
                head = end['head']
                need(set(head) == {'revision', 'hash'} and is_one(head['revision'], last['revision']) and head['hash'] == last['hash']
                     and is_one(end['events'], header['to'] - header['from'] + 1), 'the last line does not say what the events before it say')
                said = f"valid {shown(jcs(header['npcId']))} {header['from']}-{header['to']} {check_proof(end, header, covered, named, kept)}"
        need(said is not None, 'it is missing: the file was truncated')
    except Broken as why:
        words = {'checkpoint': 'wrong checkpoint', 'key': 'wrong key', 'proof': 'not proven'}
        sys.exit(f'{words.get(why.culprit, f"broken at line {line}")}: {why}')
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error: sys.exit(f'broken at line {line}: {error!r}')
    print(said)

def main(words):
    options, named, files = {}, [], []
    while words:
        word, split, value = words.pop(0).partition('=')
        if word == '--any-key' and not split: options[word] = True
        elif word == '--key' and (split or words): named.append(value if split else words.pop(0))
        elif word == '--checkpoint' and (split or words): options[word] = value if split else words.pop(0)
        else: files.append(word + split + value)
    if len(files) != 1 or files[0].startswith('--') or named and '--any-key' in options:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    kept = options.get('--checkpoint')
    try:
        named = [read_key(key) for key in named]
        if kept is not None: kept = read_kept(kept)
        with open(files[0], 'rb') as file: verify(file, named, kept)
    except (OSError, Broken, ValueError) as error: sys.exit(f'cannot be read: {error}')
    if not named and '--any-key' not in options:
        print(KEY_NOT_CHECKED, file=sys.stderr)
        sys.exit(4)

if __name__ == '__main__': main(sys.argv[1:])
