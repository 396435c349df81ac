/**
 * Other spellings of provider ids that clients send, and ids of what their owner has closed in favour of another: Google's PaLM API
 * ended in 2024, its models are Gemini's now.
 */
export const providerAliases: Readonly<Record<string, string>> = {
  'hugging-face': 'huggingface',
  'open-ai': 'openai',
  palm: 'google',
  xai: 'x-ai',
};

/** The id in its one true spelling. */
export function canonicalProviderId(id: string): string {
  return Object.hasOwn(providerAliases, id) ? (providerAliases[id] as string) : id;
}
