import { replyMessages } from './anthropic-replies.ts';
import type { Behaviour, Exchange } from './fake-upstream.ts';
import { replyMedia } from './openai-media-replies.ts';
import { replyChatCompletion, replyCompletion, replyEmbeddings } from './openai-replies.ts';
import { replyResponse } from './openai-responses-reply.ts';
import { sendJson } from './send-events.ts';

// biome-ignore lint/suspicious/noExplicitAny: a fake provider takes whatever it is sent
type Reply = (exchange: Exchange, body: any) => void | Promise<void>;

/** By the end of the path, so that custom hosts with a base path work too. Longest first. */
const replies: readonly (readonly [path: string, reply: Reply])[] = [
  ['/chat/completions', replyChatCompletion],
  ['/completions', replyCompletion],
  ['/embeddings', replyEmbeddings],
  ['/responses', replyResponse],
  ['/messages', replyMessages],
];

/** The default reply: real formats of OpenAI and Anthropic, by path. */
export const replyLikeAProvider: Behaviour = {
  when: 'body',
  async run(exchange) {
    const { request, response } = exchange;
    if (request.path.startsWith('/echo')) {
      response.writeHead(200, {
        'content-type': request.header('content-type') ?? 'application/octet-stream',
        'content-length': request.bodyBytes,
      });
      response.end(request.body);
      return;
    }
    if (request.method === 'GET' && request.path.endsWith('/models')) {
      const data = ['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small'].map((id) => ({
        id,
        object: 'model',
        created: 1_715_367_049,
        owned_by: 'system',
      }));
      sendJson(response, 200, { object: 'list', data });
      return;
    }
    if (await replyMedia(exchange)) return;
    const reply = request.method === 'POST' ? replies.find(([path]) => request.path.endsWith(path))?.[1] : undefined;
    if (!reply) {
      const message = `Invalid URL (${request.method} ${request.path})`;
      sendJson(response, 404, { error: { message, type: 'invalid_request_error', param: null, code: null } });
      return;
    }
    let body: unknown;
    try {
      body = request.json();
    } catch {
      const message = 'We could not parse the JSON body of your request.';
      sendJson(response, 400, { error: { message, type: 'invalid_request_error', param: null, code: null } });
      return;
    }
    return reply(exchange, body);
  },
};
