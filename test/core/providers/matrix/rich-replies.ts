import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import type { ProviderCase } from './provider-cases.ts';
import { anthropicReplies } from './rich/anthropic.ts';
import { converseReplies } from './rich/converse.ts';
import { geminiReplies } from './rich/gemini.ts';
import { otherReplies } from './rich/others.ts';
import type { Wire } from './wires/wire.ts';

/** One reply of a provider in both of its forms. */
export interface RichReply {
  readonly name: string;
  readonly provider: Omit<ProviderCase, 'wires'>;
  /** False for a provider that serves Responses calls itself, in another form than this one. */
  readonly overChat?: boolean;
  readonly plain: JsonObject;
  readonly events: readonly StreamEvent[];
  readonly frames?: NonNullable<Wire['frames']>;
  readonly streamType?: string;
}

export const richReplies: readonly RichReply[] = [...anthropicReplies, ...geminiReplies, ...converseReplies, ...otherReplies];
