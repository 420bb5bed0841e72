/** The version of the HTTP API, as in `GET /status` and the OpenAPI document. */
export const apiVersion = '1.0.0';
