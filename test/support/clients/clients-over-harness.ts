import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Harness } from '../../../core/test-kit/pipeline-harness.ts';

const origin = 'http://gateway.test';

/** OpenAI's own client, whose calls use the pipeline of a harness. `headers` are added to each call. */
export function openAiOver(harness: Harness, headers: Record<string, string>): OpenAI {
  return new OpenAI({ apiKey: harness.key, baseURL: `${origin}/v1`, maxRetries: 0, fetch: fetchOver(harness, headers) });
}

/** Anthropic's own client, as above. */
export function anthropicOver(harness: Harness, headers: Record<string, string>): Anthropic {
  return new Anthropic({ apiKey: harness.key, baseURL: origin, maxRetries: 0, fetch: fetchOver(harness, headers) });
}

function fetchOver(harness: Harness, headers: Record<string, string>) {
  return async (input: unknown, init?: unknown): Promise<Response> => {
    // The client checks the features of its fetch with a `data:` address.
    if (!String(input).startsWith(`${origin}/`)) return fetch(input as string, init as RequestInit);
    const request = new Request(input as string, init as RequestInit);
    const sent: Record<string, string> = Object.fromEntries(request.headers);
    const sink = await harness.send({
      method: request.method,
      path: new URL(request.url).pathname + new URL(request.url).search,
      headers: { ...sent, ...headers },
      body: new Uint8Array(await request.arrayBuffer()),
    });
    const replied = new Headers();
    for (let i = 0; i < sink.headers.length; i += 2) replied.append(sink.headers[i] as string, sink.headers[i + 1] as string);
    return new Response(Buffer.concat(sink.chunks), { status: sink.status, headers: replied });
  };
}
