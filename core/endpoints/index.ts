import type { Endpoint, WireFormat } from '../contract/context.ts';
import { ownBatchPrefix } from '../contract/own-store.ts';
import { speech, transcriptions, translations } from './audio.ts';
import { batchRoutes } from './batches.ts';
import { chatCompletions } from './chat-completions.ts';
import { completions } from './completions.ts';
import { isControlPlanePath } from './control-plane.ts';
import { decisions } from './decisions.ts';
import { embeddings } from './embeddings.ts';
import { explainEndpoint } from './explain.ts';
import { fileRoutes } from './files.ts';
import { fineTuningRoutes } from './fine-tuning.ts';
import { imageEdits, imageGenerations, imageVariations } from './images.ts';
import { messages, messagesCountTokens } from './messages.ts';
import { modelsEndpoint } from './models.ts';
import { moderations } from './moderations.ts';
import { ocr } from './ocr.ts';
import { proxyEndpoint } from './proxy.ts';
import { realtimeEndpoint } from './realtime.ts';
import { rerank } from './rerank.ts';
import { responseRoutes, responses } from './responses.ts';
import { compileRoutes, type Route } from './route.ts';

/** The shaped routes. Adding one is adding a line here. */
const shaped: readonly Route[] = [
  chatCompletions,
  completions,
  embeddings,
  messages,
  messagesCountTokens,
  responses,
  ...responseRoutes,
  speech,
  transcriptions,
  translations,
  imageGenerations,
  imageEdits,
  imageVariations,
  moderations,
  rerank,
  ocr,
  decisions,
  ...fileRoutes,
  ...batchRoutes,
  ...fineTuningRoutes,
];

/** Routes that no single operation shapes, by method and path below `/v1`. */
const standalone: ReadonlyMap<string, Endpoint> = new Map([
  ['GET /models', modelsEndpoint],
  ['GET /realtime', realtimeEndpoint],
  ['POST /configs/explain', explainEndpoint],
]);

const find = compileRoutes(shaped, standalone);

/** `GET /files/{id}` and so on: every route there is. What is none of them is the control plane's or passes through. */
export const routeNames: readonly string[] = [...shaped.map(({ method, path }) => `${method} ${path}`), ...standalone.keys()];

/** What a path means: an endpoint of the data plane, the control plane, or nothing (404, 405). */
export type Match = Endpoint | 'control-plane' | 'not-found' | 'method-not-allowed';

export function matchEndpoint(method: string, path: string): Match {
  if (!path.startsWith('/v1/')) return isControlPlanePath(path) ? 'control-plane' : 'not-found';
  const below = path.slice('/v1'.length);
  const known = find(method, below);
  if (known) return known;
  // What is noted about a batch of the service; everything else about batches is the data plane's.
  if (method === 'PUT' && below.startsWith(`/batches/${ownBatchPrefix}`)) return 'control-plane';
  if (isControlPlanePath(path)) return 'control-plane';
  return proxyEndpoint(method, below) ?? 'method-not-allowed';
}

/** The format that an error takes when only the path of its request can be relied on. */
export function errorFormatOf(path: string): WireFormat | 'control-plane' {
  if (isControlPlanePath(path)) return 'control-plane';
  return path === messagesPath || path.startsWith(`${messagesPath}/`) ? 'messages' : 'chat';
}

const messagesPath = `/v1${messages.path}`;
