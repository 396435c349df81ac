/** Versions that only Google's APIs have, such as in `/v1/v1beta/models` and `/upload/v1beta/files`. */
const previewVersion = /^(?:\/v1)?(?:\/proxy)?(?:\/upload)?\/v1(?:alpha|beta)\d*\//;

/** Google's OpenAI-compatible APIs: `/v1beta/openai/…`, and `/v1beta1/projects/…/endpoints/openapi/…` of Vertex AI. */
const openAiLike = /\/open(?:ai|api)\//;

/** Verbs of Gemini's models, which the stable version `v1` has too. */
const geminiVerb =
  /:(?:generateContent|streamGenerateContent|countTokens|computeTokens|embedContent|batchEmbedContents|batchGenerateContent)$/;

/** Returns true for paths of Google's own APIs, whose clients expect errors in Google's form. `path` has no query. */
export function isGeminiPath(path: string): boolean {
  return geminiVerb.test(path) || (previewVersion.test(path) && !openAiLike.test(path));
}
