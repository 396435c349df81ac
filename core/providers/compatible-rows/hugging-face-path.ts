import type { ProviderSettings } from '../../contract/provider/provider.ts';

/** Functions of Text Generation Inference and Text Embeddings Inference, the servers of dedicated endpoints. */
const functionsOfServers =
  'generate|generate_stream|tokenize|decode|embed|embed_all|embed_sparse|rerank|predict|similarity|info|health|metrics';

/** Paths outside of OpenAI's API: models of the router, and functions of the servers. */
const ownPaths = new RegExp(`^/(?:hf-inference/models/.|(?:${functionsOfServers})(?:[/?]|$))`);

/** Returns the prefix of OpenAI's API. The host may include it. */
export function huggingFacePrefix(settings: ProviderSettings): string {
  return /\/v1\/*$/.test(String(settings.custom_host ?? settings.huggingface_base_url ?? '')) ? '' : '/v1';
}

/** Returns the path of a pass-through call. Hugging Face's own API is beside OpenAI's, not below `/v1`. */
export function huggingFacePath(path: string, settings: ProviderSettings): string {
  return ownPaths.test(path) ? path : huggingFacePrefix(settings) + path;
}
