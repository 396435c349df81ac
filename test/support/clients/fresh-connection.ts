import { request } from 'node:http';

export interface FreshReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Makes one call on a connection of its own, so that calls spread over the processes that share a port. */
export function onFreshConnection(
  url: string,
  options: { readonly headers: Readonly<Record<string, string>>; readonly body: object },
): Promise<FreshReply> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', ...options.headers };
    const call = request(url, { method: 'POST', agent: false, headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(JSON.stringify(options.body));
  });
}
