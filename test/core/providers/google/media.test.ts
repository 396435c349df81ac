import { geminiMediaSuite } from '../gemini-media.ts';

geminiMediaSuite({
  provider: 'google',
  settings: {},
  url: (model, method) => `https://generativelanguage.googleapis.com/v1beta/models/${model}:${method}`,
});
