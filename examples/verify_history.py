#!/usr/bin/env python3
"""Checks a bundle of a history (docs/reference/formats/bundle.md) offline: its hash chain, and what the log of its tenant says of it.

Usage: verify_history.py <file> [--key <thumbprint or JWK file>] [--checkpoint <note file>]
Exit code 0 and a line "valid ...", or 1 and a line "broken at line N: why". Needs the package "cryptography" where a bundle has a proof.
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

class Broken(Exception): pass

def need(holds, why):
    if not holds: raise Broken(why)

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
def read_note(note):
    need(len(note.encode('utf-16-le')) <= 131072 and note.endswith('\n') and not re.search('[\x00-\x09\x0b-\x1f\x7f]', note), 'the checkpoint is not a note of a log')
    text, split, signatures = note.rpartition('\n\n')
    need(split and text, 'the checkpoint is not a note of a log')
    found = []
    for line in signatures[:-1].split('\n'):
        match = re.fullmatch(r'— ([^\s\ufeff+]{1,1024}) ([A-Za-z0-9+/]+={0,2})', line)
        need(match, 'the checkpoint is not a note of a log')
        try: data = base64.b64decode(match[2], validate=True)
        except ValueError: raise Broken('the checkpoint is not a note of a log')
        need(len(data) > 4 and base64.b64encode(data).decode() == match[2], 'the checkpoint is not a note of a log')
        found.append((match[1], data[:4], data[4:]))
    need(len(found) <= 64, 'the checkpoint is not a note of a log')
    text += '\n'
    lines = text.split('\n')
    need(len(lines) == 5 and lines[4] == '' and re.fullmatch('0|[1-9][0-9]{0,15}', lines[1]), 'the checkpoint is not a note of a log')
    need(re.fullmatch(r'[^\s\ufeff+]{1,1024}', lines[0]) and lines[3].startswith('time ') and is_time(lines[3][5:]), 'the checkpoint is not a note of a log')
    try: root = base64.b64decode(lines[2], validate=True)
    except ValueError: raise Broken('the checkpoint is not a note of a log')
    need(len(root) == 32 and base64.b64encode(root).decode() == lines[2], 'the checkpoint is not a note of a log')
    return {'text': text, 'signatures': found, 'origin': lines[0], 'size': int(lines[1]), 'root': root, 'at': lines[3][5:]}

def signed_by(note, keys):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    name = note['origin']
    for kid, key in keys:
        key_id = sha256(name.encode() + b'\n\x01' + key)[:4]
        for signer, given, signature in note['signatures']:
            if signer != name or given != key_id: continue
            try: Ed25519PublicKey.from_public_bytes(key).verify(signature, note['text'].encode())
            except Exception: continue
            return kid
    raise Broken('no key that may have signed the checkpoint has signed it')

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
    need(set(header) == HEADER and header['bundle'] == 'anima-history' and is_one(header['version'], 1), 'it is not the header of a bundle of version 1')
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

def check_proof(proof, header, covered, key, kept):
    if proof is None:
        need(key is None and kept is None, 'the log does not contain these events yet')
        return None
    need(isinstance(proof, dict) and set(proof) - {'extends'} == {'size', 'leaf', 'index', 'path', 'note'}, 'its proof has missing or unknown members')
    leaf, size, longer = proof['leaf'], proof['size'], proof.get('extends')
    need(isinstance(leaf, dict) and set(leaf) == {'stream', 'revision', 'hash', 'at'}, 'the leaf has missing or unknown members')
    need(is_place(size) and is_place(proof['index']) and is_path(proof['path']) and isinstance(proof['note'], str), 'a member of its proof is malformed')
    if 'extends' in proof:
        need(isinstance(longer, dict) and set(longer) == {'from', 'path'} and is_place(longer['from']) and is_path(longer['path']), 'its extension is invalid')
        need(1 <= longer['from'] <= size, 'its extension is invalid')
    need(is_place(leaf['revision']) and leaf['stream'] == header['stream'], 'the leaf belongs to another stream')
    need(covered == {'revision': leaf['revision'], 'hash': leaf['hash'], 'at': leaf['at']}, 'the leaf is not an event of this bundle')
    keys = header['keys']
    if isinstance(key, tuple): keys = [key]
    elif key is not None: keys = [one for one in keys if one[0] == key]
    note = read_note(proof['note'])
    kid = signed_by(note, keys)
    need(note['size'] == size, 'the checkpoint and the proof have different sizes')
    path = [bytes.fromhex(one) for one in proof['path']]
    need(included(sha256(b'\0' + jcs(leaf).encode()), proof['index'], size, path, note['root']), 'the leaf is not in the signed log')
    if kept is not None:
        old = read_note(kept)
        signed_by(old, keys)
        need(old['origin'] == note['origin'], 'the earlier checkpoint belongs to another log')
        need(old['size'] <= size, 'the log was truncated, or the bundle is old: the earlier checkpoint is of a larger log')
        if old['size'] == size: need(old['root'] == note['root'], 'the log was forked: the earlier checkpoint has the same size but a different root')
        elif old['size'] > 0:
            need(longer is not None and longer['from'] == old['size'], 'the bundle does not prove that it extends the earlier checkpoint')
            between = [bytes.fromhex(one) for one in longer['path']]
            need(extends(old['size'], old['root'], size, note['root'], between), 'the log does not extend the earlier checkpoint')
    return f"logged up to {leaf['revision']} in {shown(note['origin'])} of size {size} at {note['at']} signed by {kid}"

def leaf_revision(file):  # what the last line says, before it is checked: that event is looked out for
    file.seek(0, 2)
    file.seek(max(0, file.tell() - 262144))
    try: return json.loads(file.read().rstrip(b'\n').rpartition(b'\n')[2])['proof']['leaf']['revision']
    except (ValueError, KeyError, TypeError, RecursionError): return None

def verify(file, key, kept):
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
                need(set(end) == {'events', 'head', 'proof'}, 'the last line has missing or unknown members')
                head = end['head']
                need(set(head) == {'revision', 'hash'} and is_one(head['revision'], last['revision']) and head['hash'] == last['hash']
                     and is_one(end['events'], header['to'] - header['from'] + 1), 'the last line does not say what the events before it say')
                logged = check_proof(end['proof'], header, covered, key, kept)
                said = f"valid {shown(jcs(header['npcId']))} {header['from']}-{header['to']} {logged or 'not logged yet'}"
        need(said is not None, 'it is missing: the file was truncated')
    except Broken as why: sys.exit(f'broken at line {line}: {why}')
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error: sys.exit(f'broken at line {line}: {error!r}')
    print(said)

def main(words):
    options, files = {}, []
    while words:
        word = words.pop(0)
        if word in ('--key', '--checkpoint') and words: options[word] = words.pop(0)
        else: files.append(word)
    if len(files) != 1: sys.exit(__doc__)
    key, kept = options.get('--key'), options.get('--checkpoint')
    try:
        if key is not None and not re.fullmatch('[A-Za-z0-9_-]{43}', key): key = key_of(json.load(open(key, encoding='utf-8')))
        if kept is not None:
            kept = open(kept, encoding='utf-8', newline='').read()
            if kept.startswith('{'): kept = json.loads(kept.rstrip('\n').rpartition('\n')[2])['note']
        with open(files[0], 'rb') as file: verify(file, key, kept)
    except (OSError, Broken, ValueError) as error: sys.exit(f'cannot be read: {error}')

if __name__ == '__main__': main(sys.argv[1:])
