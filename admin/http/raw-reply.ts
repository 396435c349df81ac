/** Reply of a handler that is not JSON: CSV, a page, a redirect. */
export class RawReply {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly status: 200 | 201 | 302 | 303;

  constructor(body: string, headers: Readonly<Record<string, string>>, status: RawReply['status'] = 200) {
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}
