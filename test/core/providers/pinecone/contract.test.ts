import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { pinecone } from '../../../../core/providers/pinecone/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(pinecone, {
  finishReasons: 'as-sent',
  credential: { header: 'api-key', value: (key) => key },
  // Fields that are not part of an embeddings call are sent as its parameters.
  unwrap: (operation, body) => (operation === 'embed' ? (body.parameters as JsonObject) : body),
});
