/** Reply of a handler that is not plain JSON: CSV, a page, a redirect, protobuf, SCIM. */
export class RawReply {
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: 200 | 201 | 204 | 302 | 303 | 304 | 400 | 401 | 403 | 404 | 429 | 502 | 503;

  constructor(body: RawReply['body'], headers: Readonly<Record<string, string>>, status: RawReply['status'] = 200) {
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}
