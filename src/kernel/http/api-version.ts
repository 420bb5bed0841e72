/** The version of the HTTP interface (contract 1.9), as `GET /status` and the OpenAPI document state it. */
export const apiVersion = '1.0.0';
