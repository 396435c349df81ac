import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { emptyUsage, type Usage } from '../../../../core/contract/values/models/usage.ts';
import { deepseek } from '../../../../core/providers/deepseek/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { messagesOverChat } from '../../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { repliesOfEvents, repliesOfReply } from '../../providers/assemble-reply.ts';
import { callOf, translated } from '../../providers/contract-suite.ts';
import { eventsOfText } from '../../providers/event-stream-text.ts';
import { type CallCase, fixturesOf } from '../../providers/provider-fixtures.ts';

/** Without the extra fields that this provider accepts, so that every lost field shows. */
const operations: Record<string, Operation> = {
  openai: messagesOverChat(openai.operations.chatComplete as Operation),
  deepseek: messagesOverChat(deepseek.operations.chatComplete as Operation),
};
const cases = fixturesOf('../translate/messages-over-chat').calls as (CallCase & { provider?: string })[];

describe.each(cases.map((fixture) => [fixture.name, fixture] as const))(
  'a Messages call over chat completions: %s',
  (_, fixture) => {
    const operation = operations[fixture.provider ?? 'openai'] as Operation;

    it('reaches the provider as a chat call, and reports dropped fields', () => {
      const call = callOf(fixture.request, {}, {});
      expect(operation.toProvider?.(call.params, call)).toEqual(fixture.providerRequest);
      expect(call.dropped).toEqual(fixture.dropped ?? []);
      expect(call.adapted).toEqual(fixture.adapted ?? []);
      expect(operation.path(call)).toBe('/chat/completions');
    });

    it('gets a reply in the Messages format', () => {
      const call = callOf(fixture.request, {}, {});
      expect(operation.fromProvider?.(fixture.providerReply, call)).toEqual(fixture.reply);
      expect(operation.usage(fixture.providerReply)).toEqual({ ...expected(fixture.usage), raw: fixture.providerReply.usage });
    });

    it('keeps unknown fields in both directions', () => {
      const call = callOf({ ...fixture.request, svc_unknown: [1] }, {}, {});
      expect(operation.toProvider?.(call.params, call).svc_unknown).toEqual([1]);
      expect(operation.fromProvider?.({ ...fixture.providerReply, svc_unknown: [2] }, call).svc_unknown).toEqual([2]);
    });

    if (fixture.chunks === null) return;
    const events = eventsOfText(fixture.chunks);
    const streamed = { ...fixture.request, stream: true };

    it('requests a stream with token counts', () => {
      const call = callOf(streamed, {}, {});
      expect(operation.toProvider?.(call.params, call)).toEqual(fixture.stream?.providerRequest);
    });

    it('streams the same content as the plain reply', () => {
      const sent = translated(operation, events, callOf(streamed, {}, {}));
      expect(repliesOfEvents('messages', sent)).toEqual(repliesOfReply('messages', fixture.reply));
      if (fixture.events !== null) expect(sent).toEqual(eventsOfText(fixture.events));
      expect(sent.map((event) => event.event)).toEqual(sent.map((event) => (event.data as { type: string }).type));
    });

    it('streams the same token counts as the plain reply', () => {
      const sent = translated(operation, events, callOf(streamed, {}, {}));
      const counted = sent.find((event) => event.event === 'message_delta')?.data;
      expect(counted).toMatchObject({ usage: fixture.reply.usage });
      const reader = operation.streamReader();
      for (const event of events) reader.push(event);
      expect(reader.complete()).toBe(true);
      expect(reader.usage()).toMatchObject(expected(fixture.usage));
    });
  },
);

function expected(usage: Partial<Usage> | null): Omit<Usage, 'raw'> {
  const { raw: _, ...counts } = { ...emptyUsage(), ...usage };
  return counts;
}
