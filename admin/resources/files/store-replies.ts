import type { Context } from 'hono';

/** OpenAI's list. */
export function listReply(data: readonly { readonly id: string }[], hasMore: boolean) {
  return { object: 'list', data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}

/** A reply whose source is read at the speed of the gateway. */
export function bytesReply(c: Context, source: AsyncGenerator<Uint8Array>, headers: Record<string, string>): Response {
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await source.return(undefined);
    },
  });
  return c.body(stream, 200, headers);
}
