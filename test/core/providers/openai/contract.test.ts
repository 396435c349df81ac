import { openai } from '../../../../core/providers/openai/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(openai, { finishReasons: 'as-sent' });
