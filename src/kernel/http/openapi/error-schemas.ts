import { type TSchema, Type } from '@sinclair/typebox';

import type { RejectionCode } from '../../base/rejection.js';
import { rejections } from '../rejections.js';
import { named } from '../named.js';
import { FreeObject } from '../schemas.js';
import { statuses } from '../statuses.js';
import { errorDetails, pascalCase } from './error-details.js';

export const codes = Object.keys(rejections) as readonly RejectionCode[];

const members = (code: TSchema, details: TSchema): TSchema =>
  Type.Object({
    code,
    message: Type.String({ description: 'What is wrong and what to do about it, for humans.' }),
    details,
    requestId: Type.String({
      description: 'The same as the header `X-Request-Id`. Quote it when you report a problem.',
    }),
  });

const oneError = (code: RejectionCode, details: TSchema) =>
  named(`${pascalCase(code)}Error`, members(Type.Literal(code, { description: rejections[code] }), details));

const detailed = Array.from(errorDetails, ([code, details]) => ({ code, schema: oneError(code, details) }));
const others = codes.filter((code) => !errorDetails.has(code));

const OtherError = named(
  'OtherError',
  members(Type.Unsafe({ type: 'string', enum: others }), {
    ...FreeObject,
    description: 'Usually empty.',
  }),
);

const mapping = Object.fromEntries([
  ...detailed.map(({ code }) => [code, `#/components/schemas/${pascalCase(code)}Error`]),
  ...others.map((code) => [code, '#/components/schemas/OtherError']),
]) as Readonly<Record<string, string>>;

/** Every code, for clients that switch over all of them. */
export const ErrorCode = named(
  'ErrorCode',
  Type.Unsafe({
    type: 'string',
    enum: [...codes],
    description:
      'A stable code. The list is open: a later version may add codes. Treat a code that you do not know as its HTTP status.',
  }),
);

/** The detailed shape of every error, with one exception. */
export const ErrorBody = named(
  'Error',
  Type.Object({
    error: named(
      'ErrorInfo',
      Type.Unsafe({
        description:
          'One schema for each code with fixed details, and `OtherError` for the rest. `ErrorCode` lists all codes. The list is open: a later version may add codes. Treat a code that you do not know as its HTTP status.',
        oneOf: [...detailed.map(({ schema }) => schema), OtherError],
        discriminator: { propertyName: 'code', mapping },
      }),
    ),
  }),
);

/** The short shape of every 403 of `POST /rules`. */
export const ShortError = named('ShortError', Type.Object({ error: Type.String() }));

/** An example of an error as it is sent. */
export const exampleOf = (code: RejectionCode, details: object = {}): object => ({
  error: { code, message: rejections[code], details, requestId: 'q3YtJ0Xn1A4F-2a' },
});

export const statusOfCode = (code: RejectionCode): number => statuses[code];
