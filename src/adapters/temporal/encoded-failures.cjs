// The converter of failures while payloads are encrypted: their messages and stack traces become a payload. The SDK loads this file by its path, in
// the worker and into the workflow's bundle.
const { DefaultFailureConverter } = require('@temporalio/common');

module.exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
