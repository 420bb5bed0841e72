import { describe, expect, it } from 'vitest';

import { MAX_SOUL_LINKS } from '../../../../src/features/souls/domain/bounds.js';
import { broughtBy } from '../../../../src/features/souls/domain/soul-state.js';
import { unsignedSoul } from '../../../support/souls.js';

const { provenance } = unsignedSoul();

describe('a soul document', () => {
  it('has the members of a soul, and no others [8.7b]', () => {
    expect(Object.keys(unsignedSoul())).toEqual([
      ...['id', 'version', 'createdAt', 'name', 'npcId', 'persona', 'baseModelWeights'],
      ...['state', 'memories', 'ruleset', 'provenance'],
    ]);
  });

  it('has facts only if something was reported [5.9l, 8.7b]', () => {
    for (const facts of [undefined, null, {}])
      expect(unsignedSoul(facts === undefined ? {} : { facts })).not.toHaveProperty('facts');
    const soul = unsignedSoul({ facts: { war: true } });
    expect([soul.facts, broughtBy(soul).facts]).toEqual([{ war: true }, { war: true }]);
    expect(broughtBy(unsignedSoul())).not.toHaveProperty('facts');
  });

  it('has empty texts for missing records, and null only for the ruleset [7.2i, 7.2j, 8.7c]', () => {
    const soul = unsignedSoul({ persona: null, data: null, memories: [], ruleset: null });
    expect(soul).toMatchObject({ version: '1', persona: '', baseModelWeights: '', memories: [], ruleset: null });
    expect(soul.name).toBe(soul.npcId);
  });

  it.each([
    [{ name: 'Zoë' }, 'Zoë'],
    [{ name: '' }, 'guard'],
    [{ name: 7 }, 'guard'],
    [{}, 'guard'],
  ])('gets its name from the data if that is a text: %j [8.7c]', (data, name) => {
    expect(unsignedSoul({ npcId: 'guard', data }).name).toBe(name);
  });

  it('drops the oldest links of a chain that is too long [8.7g]', () => {
    const [link] = provenance.chain;
    if (link === undefined) throw new Error('the sample came from nowhere');
    const chain = Array.from({ length: MAX_SOUL_LINKS + 2 }, (_, place) => ({ ...link, soulId: `s${place}` }));
    const kept = unsignedSoul({ provenance: { ...provenance, chain } }).provenance.chain;
    expect(kept).toHaveLength(64);
    expect(kept.map(({ soulId }) => soulId)).toEqual(chain.slice(2).map(({ soulId }) => soulId));
  });
});
