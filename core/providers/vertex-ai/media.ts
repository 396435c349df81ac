import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { badParam } from '../../formats/bad-param.ts';
import { geminiSpeech } from '../../formats/gemini/audio/speech.ts';
import { geminiTranscription } from '../../formats/gemini/audio/transcription.ts';
import { imagen } from '../../formats/gemini/images/imagen.ts';
import { imagenOr } from '../../formats/gemini/images/imagen-or.ts';
import { geminiImages } from '../../formats/gemini/images/images.ts';
import { locationPath } from './address.ts';
import { vertexModel } from './models.ts';

const id = 'vertex-ai';

/** Speech, transcription and images of Google's own models. On Vertex AI, other makers' models offer none in a known form. */
export const createSpeech: Operation = geminiSpeech(id, (call) => googlePath(call, 'speak'));
export const createTranscription: Operation = geminiTranscription(id, (call) => googlePath(call, 'transcribe'), 'transcribe');
export const createTranslation: Operation = geminiTranscription(id, (call) => googlePath(call, 'translate'), 'translate');
export const imageGenerate: Operation = images('generation');
export const imageEdit: Operation = images('edit');

function images(kind: 'generation' | 'edit'): Operation {
  const path = (call: OperationCall): string => googlePath(call, 'draw');
  return imagenOr(imagen(id, kind, path), geminiImages(id, kind, path, { outputOptions: true }));
}

function googlePath(call: OperationCall, act: string): string {
  const model = vertexModel(call.model);
  if (model.family !== 'gemini') throw badParam('model', `${call.model} does not ${act} on ${id}: a model of Google is expected`);
  return locationPath(call.settings, model.path);
}
