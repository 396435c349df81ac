import { ollama } from '../../../../core/providers/ollama/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(ollama, {
  settings: { custom_host: 'http://localhost:11434' },
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls', content_filter: 'content_filter' },
});
