import { segmind } from '../../../../core/providers/segmind/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(segmind, { finishReasons: 'as-sent', credential: { header: 'x-api-key', value: (key) => key } });
