import type { Operation, ProviderAdapter } from '../../contract/provider.ts';
import { completionsOverChat } from '../shared/completions-over-chat.ts';
import { geminiChat } from '../shared/gemini/chat-completions.ts';
import { imagen } from '../shared/gemini/imagen.ts';
import { imagenOr } from '../shared/gemini/imagen-or.ts';
import { geminiImages } from '../shared/gemini/images.ts';
import { geminiSpeech } from '../shared/gemini/speech.ts';
import { geminiTranscription } from '../shared/gemini/transcription.ts';
import { embed } from './embeddings.ts';
import { modelPath } from './paths.ts';

const id = 'google';

const chatComplete = geminiChat(id, modelPath, { isGeminiApi: true });

/** What the Gemini API answers, by generateContent save for embeddings and Imagen. */
export const operations: ProviderAdapter['operations'] = {
  chatComplete,
  complete: completionsOverChat(chatComplete, id),
  embed,
  createSpeech: geminiSpeech(id, modelPath),
  createTranscription: geminiTranscription(id, modelPath, 'transcribe'),
  createTranslation: geminiTranscription(id, modelPath, 'translate'),
  imageGenerate: images('generation'),
  imageEdit: images('edit'),
};

function images(kind: 'generation' | 'edit'): Operation {
  return imagenOr(imagen(id, kind, modelPath), geminiImages(id, kind, modelPath, { outputOptions: false }));
}
