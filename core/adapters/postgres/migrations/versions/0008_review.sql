-- `contradicts`: the applied change that a held one contradicts ('' if that is not known): a person
-- decides between the two. `proposed`: what the agent wrote, where a person has edited it.
ALTER TABLE changes ADD COLUMN contradicts text, ADD COLUMN proposed jsonb;
