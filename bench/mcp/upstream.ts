/**
 * An MCP server of the revision 2026-07-28 that replies to every call of a tool with the same result, and at `/a2a` an agent that replies to
 * every message with the same one. Prints `listening <port>`.
 */
import { uws } from '../uws.ts';

const text = 'The weather in Aarhus is mild. '.repeat(16);
const reply = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });
const bodies = {
  tool: reply({ resultType: 'complete', content: [{ type: 'text', text }] }),
  agent: reply({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } }),
};

uws
  .App()
  .post('/*', (response, request) => {
    const body = request.getUrl() === '/a2a' ? bodies.agent : bodies.tool;
    response.onAborted(() => {});
    response.onData((_, isLast) => {
      if (isLast) response.cork(() => void response.writeHeader('content-type', 'application/json').end(body));
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket) console.log(`listening ${uws.us_socket_local_port(socket)}`);
  });
