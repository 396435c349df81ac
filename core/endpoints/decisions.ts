import type { Route } from './route.ts';

/** Typed judgments: `{model, state, questions}`, or OpenAI's `{model, input, questions}`. */
export const decisions: Route = { method: 'POST', path: '/decisions', operation: 'createDecision', format: 'chat' };
