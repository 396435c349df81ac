import type { Route } from './route.ts';

export const imageGenerations: Route = {
  method: 'POST',
  path: '/images/generations',
  operation: 'imageGenerate',
  format: 'chat',
};

/** A form with the images, or JSON that names them by URL or holds them as base64. */
export const imageEdits: Route = {
  method: 'POST',
  path: '/images/edits',
  operation: 'imageEdit',
  format: 'chat',
  body: 'json-or-form',
};

export const imageVariations: Route = {
  method: 'POST',
  path: '/images/variations',
  operation: 'imageVariation',
  format: 'chat',
  body: 'form',
};
