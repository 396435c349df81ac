import type { Route } from './route.ts';

export const messages: Route = { method: 'POST', path: '/messages', operation: 'messages', format: 'messages' };

export const messagesCountTokens: Route = {
  method: 'POST',
  path: '/messages/count_tokens',
  operation: 'messagesCountTokens',
  format: 'messages',
};
