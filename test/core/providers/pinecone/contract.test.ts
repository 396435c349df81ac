import type { JsonObject } from '../../../../core/contract/values/json.ts';
import { pinecone } from '../../../../core/providers/pinecone/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(pinecone, {
  finishReasons: 'as-sent',
  credential: { header: 'api-key', value: (key) => key },
  // What is no field of an embeddings call there is one of its parameters.
  unwrap: (operation, body) => (operation === 'embed' ? (body.parameters as JsonObject) : body),
});
