/**
 * The providers of the scenario, in a thread of their own. They read every request, and reply by its path. The model `endless`
 * returns a stream event without end, the model `large` a chat completion of 20 MB. Posts its port to the parent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

const mega = 1_000_000;
const chat = (content: string) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const large = JSON.stringify(chat('QUJD'.repeat(5 * mega)));
const replies: readonly [path: RegExp, reply: string][] = [
  [/\/chat\/completions$/, JSON.stringify(chat('hello'))],
  [
    /\/messages$/,
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  ],
  [
    /:generateContent/,
    JSON.stringify({
      candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    }),
  ],
];

const server = createServer((request, response) => {
  let head = '';
  request.on('data', (chunk: Buffer) => {
    if (head.length < 1000) head += chunk.toString('latin1', 0, 1000);
  });
  request.once('end', () => result(request, head, response));
});

function result(request: IncomingMessage, head: string, response: ServerResponse): void {
  if (head.includes('"model":"endless"')) return sendEndless(response);
  const body = head.includes('"model":"large"') ? large : replies.find(([path]) => path.test(request.url ?? ''))?.[1];
  response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(body ?? '{}');
}

function sendEndless(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = Buffer.alloc(64 * 1024, 'a');
  const write = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  response.write('data: ');
  write();
}

server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
