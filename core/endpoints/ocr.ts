import type { Route } from './route.ts';

/** Mistral's body: `{model, document: {type, document_url}}`. */
export const ocr: Route = { method: 'POST', path: '/ocr', operation: 'ocr', format: 'chat' };
