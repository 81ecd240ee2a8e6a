-- What answers show of a card, as a JSON object: written with every good probe. None until there was one.
ALTER TABLE agents_cards ADD COLUMN kept TEXT;

UPDATE agents_cards SET kept =
    json_object('description', description, 'capabilities', json(coalesce(capabilities, '[]')), 'model', model,
        'pricePerCall', price_per_call, 'card', json(card), 'lastSeen', last_seen_ms)
    WHERE card IS NOT NULL;
