import { pullApart } from '../../../../kernel/model-text/pull-apart.js';
import { withoutLeadingReasoning } from '../../../../kernel/model-text/reasoning.js';
import { untilEndToken } from '../../../../kernel/model-text/until-end.js';
import type { CleanText } from './model-output.js';
import { readerWith } from './model-text.js';

/** As logic 3 has it: without a closed reasoning at its beginning. Any other tag of reasoning is a part of what is said, and is pulled apart. */
export const cleanText3: CleanText = (text) => pullApart(untilEndToken(withoutLeadingReasoning(text.toWellFormed())));

/** Reads a model's text as logic 3 does. */
export const readModelText3 = readerWith(cleanText3);
