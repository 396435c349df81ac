import type { Operation, OperationName, ProviderSettings } from '../../contract/provider/provider.ts';
import { decisions } from '../openai/decisions.ts';
import { moderations } from '../openai/moderations.ts';
import { ocr } from '../openai/ocr.ts';
import { type RerankQuirks, rerank } from '../openai/rerank.ts';
import { type ImageQuirks, imageGenerations, images } from './images.ts';
import { speech } from './speech.ts';
import { transcriptions } from './transcriptions.ts';

/** The operations of a row other than text. */
export interface CompatibleMedia {
  readonly id: string;
  readonly images?: ImageQuirks;
  readonly rerank?: RerankQuirks;
}

export type MediaOperation = Extract<
  OperationName,
  | 'createSpeech'
  | 'createTranscription'
  | 'createTranslation'
  | 'imageGenerate'
  | 'imageEdit'
  | 'imageVariation'
  | 'moderate'
  | 'rerank'
  | 'ocr'
  | 'createDecision'
>;

type Build = (row: CompatibleMedia, prefix: (settings: ProviderSettings) => string) => Operation;

/** Returns the operations other than text of an OpenAI-compatible provider, at the paths of OpenAI, Cohere and Mistral. */
export const mediaOperations: Readonly<Record<MediaOperation, Build>> = {
  createSpeech: (row, prefix) => speech(row.id, (call) => `${prefix(call.settings)}/audio/speech`),
  createTranscription: (row, prefix) => transcriptions(row.id, (call) => `${prefix(call.settings)}/audio/transcriptions`),
  createTranslation: (row, prefix) => transcriptions(row.id, (call) => `${prefix(call.settings)}/audio/translations`),
  imageGenerate: (row, prefix) =>
    imageGenerations(row.id, (call) => `${prefix(call.settings)}${row.images?.path ?? '/images/generations'}`, row.images),
  imageEdit: (row, prefix) => images(row.id, (call) => `${prefix(call.settings)}/images/edits`),
  imageVariation: (row, prefix) => images(row.id, (call) => `${prefix(call.settings)}/images/variations`),
  moderate: (row, prefix) => moderations(row.id, (call) => `${prefix(call.settings)}/moderations`),
  rerank: (row, prefix) => rerank(row.id, (call) => `${prefix(call.settings)}/rerank`, row.rerank),
  createDecision: (row, prefix) => decisions(row.id, (call) => `${prefix(call.settings)}/decisions`),
  ocr: (row, prefix) => ocr(row.id, (call) => `${prefix(call.settings)}/ocr`),
};
