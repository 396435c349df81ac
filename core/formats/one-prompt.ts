import { badParam } from './bad-param.ts';

/** Returns the prompt of a text completion. Several prompts in one call, and prompts of token numbers, are rejected with 400. */
export function onePrompt(prompt: unknown, provider: string): string {
  if (typeof prompt === 'string') return prompt;
  if (Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] === 'string') return prompt[0];
  throw badParam('prompt', `one text is expected by ${provider}`);
}
