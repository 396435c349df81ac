import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { google } from '../../../../core/providers/google/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(google, {
  credential: { header: 'x-goog-api-key', value: (key) => key },
  finishReasons: {
    STOP: 'stop',
    MAX_TOKENS: 'length',
    CONTINUATION: 'length',
    MALFORMED_FUNCTION_CALL: 'length',
    SAFETY: 'content_filter',
    RECITATION: 'content_filter',
    PROHIBITED_CONTENT: 'content_filter',
    SPII: 'content_filter',
    LANGUAGE: 'stop',
  },
  unwrap: (operation, body) => (operation === 'messagesCountTokens' ? (body.generateContentRequest as JsonObject) : body),
});
