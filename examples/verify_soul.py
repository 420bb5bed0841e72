#!/usr/bin/env python3
"""Checks a soul document (docs/reference/formats/soul.md) without a server: python3 verify_soul.py soul.json, or from standard input. With --proof before the file
it checks the proof of one memory, as GET /souls/{txId}/proof answers it.

Needs the package `cryptography`. It computes the root of the soul's parts, and checks the root, the claims, and the signature by the key that the
soul brings. It does not check the soul against its schema, but for the ids that it prints, nor whose key it is: compare the printed kid with the
exporting server's key set. A name that comes twice is refused, because two readers could see two souls.
"""
import base64, datetime, hashlib, json, math, re, sys
from decimal import Decimal
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

def read(text):
    def unique(pairs):
        if len(dict(pairs)) < len(pairs): raise ValueError('a name is repeated')
        return dict(pairs)
    return json.loads(text, parse_int=float, parse_constant=float, object_pairs_hook=unique)

def number(value):  # as ECMAScript writes it, from the shortest digits that mean the same double
    if not math.isfinite(value): raise ValueError('a number is too large')
    if value == 0: return '0'
    digits = ''.join(map(str, Decimal(repr(abs(value))).as_tuple().digits)).rstrip('0')
    point, sign = Decimal(repr(value)).adjusted() + 1, '-' if value < 0 else ''
    if len(digits) <= point <= 21: return sign + digits.ljust(point, '0')
    if 0 < point <= 21: return sign + digits[:point] + '.' + digits[point:]
    if -6 < point <= 0: return sign + '0.' + '0' * -point + digits
    return sign + digits[0] + ('.' + digits[1:] if digits[1:] else '') + f'e{point - 1:+d}'

def jcs(value):  # RFC 8785
    if isinstance(value, float): return number(value)
    if isinstance(value, list): return '[' + ','.join(map(jcs, value)) + ']'
    if not isinstance(value, dict): return json.dumps(value, ensure_ascii=False)
    names = sorted(value, key=lambda name: name.encode('utf-16-be'))
    return '{' + ','.join(json.dumps(name, ensure_ascii=False) + ':' + jcs(value[name]) for name in names) + '}'

def sha256(data): return hashlib.sha256(data).digest()

def base64url(data): return base64.urlsafe_b64encode(data).rstrip(b'=').decode()

def decoded(text):
    data = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
    if base64url(data) != text: raise ValueError('not canonical base64url')
    return data

def root(parts):  # RFC 9162, section 2.1.1: a last node without a partner goes up as it is
    level = [sha256(b'\0' + jcs(part).encode()) for part in parts]
    while len(level) > 1:
        pairs = [level[at:at + 2] for at in range(0, len(level), 2)]
        level = [sha256(b'\1' + pair[0] + pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return base64url(level[0])

def included(leaf, place, parts, path, root):  # RFC 9162, section 2.1.3.2
    at, last, node = place, parts - 1, leaf
    for sibling in path:
        if last == 0: return False
        if at % 2 or at == last:
            node = sha256(b'\1' + sibling + node)
            while at and not at % 2: at, last = at // 2, last // 2
        else: node = sha256(b'\1' + node + sibling)
        at, last = at // 2, last // 2
    return last == 0 and node == root

def signed(jws):  # who signed what; or why that cannot be said
    head, payload, signature = jws.split('.')
    header, claims = read(decoded(head)), read(decoded(payload))
    key = header['jwk']
    if set(header) != {'alg', 'typ', 'kid', 'jwk'} or set(key) != {'crv', 'kty', 'x'}: return None, 'malformed'
    if header['alg'] not in ('EdDSA', 'Ed25519') or header['typ'] != 'soul+jwt': return None, 'malformed'
    if (key['crv'], key['kty']) != ('Ed25519', 'OKP') or base64url(sha256(jcs(key).encode())) != header['kid']: return None, 'malformed'
    try: Ed25519PublicKey.from_public_bytes(decoded(key['x'])).verify(decoded(signature), f'{head}.{payload}'.encode())
    except Exception: return None, 'bad_signature'
    if set(claims) != {'iss', 'sub', 'jti', 'iat', 'tenant', 'revision', 'root', 'parts'}: return None, 'other_soul'  # one more could ask for anything
    return header['kid'], claims

def is_id(text): return re.fullmatch('[A-Za-z0-9_-]{1,128}', text)  # any other text could end the line, and begin one of its own

def refusal(soul):
    kid, claims = signed(soul['signature'])
    if kid is None: return claims
    if not is_id(soul['id']): return 'malformed'
    origin = soul['provenance']
    made = datetime.datetime.fromisoformat(soul['createdAt'].replace('Z', '+00:00'))
    facts = {'iss': origin['issuer'], 'sub': soul['npcId'], 'jti': soul['id'], 'iat': float(math.floor(made.timestamp())),
             'tenant': origin['tenant'], 'revision': origin['revision']}
    if any(jcs(claims[name]) != jcs(fact) for name, fact in facts.items()) or origin['npcId'] != soul['npcId']: return 'other_soul'
    if jcs(claims['parts']) != str(1 + len(soul['memories'])): return 'wrong_parts'
    unsigned = {name: soul[name] for name in soul if name not in ('memories', 'trainingProof', 'signature')}
    if not root([unsigned, *soul['memories']]) == claims['root'] == soul['trainingProof']: return 'wrong_root'
    print('valid', soul['id'], 'signed by', kid)

def refusal_of_proof(proof):  # what GET /souls/{txId}/proof answers
    kid, claims = signed(proof['signature'])
    if kid is None: return claims
    if not (is_id(proof['soulId']) and is_id(proof['memory']['id'])): return 'malformed'
    if claims['jti'] != proof['soulId']: return 'other_soul'
    place, parts = proof['part'], proof['parts']
    if jcs(claims['parts']) != jcs(parts) or not (place == int(place) and 1 <= place < parts): return 'wrong_parts'
    leaf, path = sha256(b'\0' + jcs(proof['memory']).encode()), [decoded(text) for text in proof['path']]
    if claims['root'] != proof['root'] or not included(leaf, int(place), int(parts), path, decoded(proof['root'])): return 'wrong_root'
    print('valid', 'memory', proof['memory']['id'], 'of', proof['soulId'], 'signed by', kid)

files = sys.argv[1:]
check = refusal_of_proof if files[:1] == ['--proof'] else refusal
if check is refusal_of_proof: files = files[1:]
try:
    data = open(files[0], 'rb').read() if files else sys.stdin.buffer.read()
    # The first byte of a map in CBOR; no JSON begins with it.
    is_binary = data[:1] and data[0] >> 5 == 5
    reason = 'malformed: this is the binary form (CBOR); give the JSON form of the soul' if is_binary else check(read(data))
except KeyError as error: reason = f'malformed: it has no {error}'
except (ValueError, TypeError, AttributeError, RecursionError, OSError, OverflowError) as error: reason = f'malformed: {error}'
if reason: sys.exit(reason)
