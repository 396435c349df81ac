import { vertexAi } from '../../../../core/providers/vertex-ai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(vertexAi, {
  settings: { vertex_region: 'us-central1', vertex_project_id: 'acme-prod' },
  finishReasons: { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter', SPII: 'content_filter', OTHER: 'stop' },
});
