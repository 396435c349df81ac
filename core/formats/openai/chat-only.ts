import type { OperationCall } from '../../contract/provider/provider.ts';
import { isResponsesOnly } from './responses-only.ts';

/**
 * OpenAI's models without text completions, by the name of their family (https://platform.openai.com/docs/models, looked up 2026-11-23).
 * `gpt-3.5-turbo-instruct`, `davinci-002` and `babbage-002` have text completions only.
 */
const chatOnly = /(^|[/.:])(gpt-[4-9](?!\d)|gpt-3\.5-turbo(?!-instruct)|chatgpt-|o\d)/i;

/** True for a model of OpenAI that is known to have no text completions. */
export function isChatOnly(model: string): boolean {
  return chatOnly.test(model) || isResponsesOnly(model);
}

/** True for a text completion that OpenAI serves only as a chat. Other hosts may serve any model either way. */
export function completesByChat({ model, settings }: OperationCall): boolean {
  const { custom_host: host } = settings;
  return (typeof host !== 'string' || host === '') && isChatOnly(model);
}
