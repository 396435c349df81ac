import type { Operation, ProviderAdapter } from '../../contract/provider/provider.ts';
import { geminiSpeech } from '../../formats/gemini/audio/speech.ts';
import { geminiTranscription } from '../../formats/gemini/audio/transcription.ts';
import { geminiChat } from '../../formats/gemini/chat/chat-completions.ts';
import { geminiChatExtras } from '../../formats/gemini/chat/chat-extras.ts';
import { geminiCountTokens } from '../../formats/gemini/count-tokens.ts';
import { imagen } from '../../formats/gemini/images/imagen.ts';
import { imagenOr } from '../../formats/gemini/images/imagen-or.ts';
import { geminiImages } from '../../formats/gemini/images/images.ts';
import { completionsOverChat } from '../../translate/completions-over-chat.ts';
import { messagesOverChat } from '../../translate/messages-over-chat/messages-over-chat.ts';
import { embed } from './embeddings.ts';
import { modelPath } from './paths.ts';

const id = 'google';

const chatComplete = geminiChat(id, modelPath, { isGeminiApi: true });

const messages = messagesOverChat(chatComplete, geminiChatExtras);

/** The count of a whole request names its model. */
const messagesCountTokens = geminiCountTokens(id, messages, modelPath, (request, call) => ({
  generateContentRequest: { model: modelPath(call).replace(/^\/v[^/]*\//, ''), ...request },
}));

/** Operations of the Gemini API. All use generateContent, except embeddings, token counts and Imagen. */
export const operations: ProviderAdapter['operations'] = {
  chatComplete,
  complete: completionsOverChat(chatComplete, id),
  embed,
  messagesCountTokens,
  createSpeech: geminiSpeech(id, modelPath),
  createTranscription: geminiTranscription(id, modelPath, 'transcribe'),
  createTranslation: geminiTranscription(id, modelPath, 'translate'),
  imageGenerate: images('generation'),
  imageEdit: images('edit'),
};

function images(kind: 'generation' | 'edit'): Operation {
  return imagenOr(imagen(id, kind, modelPath), geminiImages(id, kind, modelPath, { outputOptions: false }));
}
