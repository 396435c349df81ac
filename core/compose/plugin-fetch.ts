import type { PluginRequest, Services } from '../contract/plugin/plugin.ts';
import type { TokenFetch } from '../contract/provider/sign-services.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { isObject } from '../contract/values/json/json.ts';

/** Pool of connections that plugins open. */
const tenant = 'svc-plugins';

/** Returns `Services.fetch` over the connector for outgoing calls, which checks addresses and limits time and size. */
export function createPluginFetch(calls: TokenFetch): Services['fetch'] {
  return async ({ url, method, headers = [], body, timeoutMs }: PluginRequest) => {
    const isJson = isObject(body);
    const sent: HeaderList = headers.map((item, i) => (i % 2 === 0 ? item.toLowerCase() : item));
    if (isJson && !sent.includes('content-type')) sent.push('content-type', 'application/json');
    return calls.fetch({
      tenant,
      url,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: sent,
      body: body === undefined ? null : isJson ? JSON.stringify(body) : (body as string),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  };
}
