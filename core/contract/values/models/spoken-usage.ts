import { emptyUsage, type Usage } from './usage.ts';

/**
 * Tokens of speech for a byte of its text: six for a token of text, of which 4,096 bytes of English had 877, as measured on bills of OpenAI:
 * https://raw.githubusercontent.com/sanand0/blog/refs/heads/main/posts/2025/openai-tts-cost.md. Letters of other scripts have more bytes.
 */
const tokensOfByte = 1.3;
const bytesPerToken = 4;

/**
 * Returns the usage of speech that no count states: its characters, by which most models are billed. Models such as `gpt-4o-mini-tts` are billed by
 * tokens, and OpenAI states them only in events, so that they are estimated.
 */
export function spokenUsage(text: string, model: string | null): Usage {
  const usage: Usage = { ...emptyUsage(), units: { characters: [...text].length } };
  if (!/gpt-.*-tts/.test(model ?? '')) return usage;
  const bytes = Buffer.byteLength(text);
  const tokens = Math.ceil(bytes * tokensOfByte);
  return {
    ...usage,
    inputTokens: Math.ceil(bytes / bytesPerToken),
    outputTokens: tokens,
    audioOutputTokens: tokens,
    estimated: true,
  };
}
