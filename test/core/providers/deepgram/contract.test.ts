import { deepgram } from '../../../../core/providers/deepgram/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(deepgram, {
  finishReasons: 'as-sent',
  credential: { header: 'authorization', value: (key) => `Token ${key}` },
});
