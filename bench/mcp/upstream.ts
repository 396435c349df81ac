/** An MCP server of the revision 2026-07-28 that replies to every call of a tool with the same result. Prints `listening <port>`. */
import { uws } from '../uws.ts';

const result = { resultType: 'complete', content: [{ type: 'text', text: 'The weather in Aarhus is mild. '.repeat(16) }] };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result });

uws
  .App()
  .post('/*', (response) => {
    response.onAborted(() => {});
    response.onData((_, isLast) => {
      if (isLast) response.cork(() => void response.writeHeader('content-type', 'application/json').end(body));
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket) console.log(`listening ${uws.us_socket_local_port(socket)}`);
  });
