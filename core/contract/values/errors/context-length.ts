/** Statuses of requests that a provider refuses for their size. 429 means too many tokens in a time, which passes. */
const statuses: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Texts of providers about a prompt that is too long for the model: Anthropic (2), Gemini, Bedrock (2), Cohere, OpenAI and most
 * compatible servers (2), xAI.
 */
const texts =
  /prompt is too long|exceed context limit|input token count .{0,200}exceeds|input is too long|too many input tokens|too many tokens: |maximum context (length|size)|exceeds? the (available |model's )?context|maximum prompt length/i;

/** The code of OpenAI for such an error, which frameworks look for to shorten the conversation. Null for other errors. */
export function contextLengthCode(status: number, message: string): string | null {
  return statuses.has(status) && texts.test(message) ? 'context_length_exceeded' : null;
}
